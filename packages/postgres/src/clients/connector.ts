/** Runs texts on one connection. */
export interface TextRunner {
  /**
   * Runs one or more statements as one text, without parameters. So a pooler such as PgBouncer in transaction mode needs no
   * prepared statements. Returns the rows of each statement, as text. A client may leave out statements without rows.
   */
  run(text: string): Promise<readonly (readonly (readonly (string | null)[])[])[]>;
}

/** A connection that a store has for the time of one transaction. */
export interface Connection extends TextRunner {
  /** Returns the connection to the client. */
  release(): void;
  /** Closes the connection. Some clients cannot close a single one. */
  close?(): void;
}

/** What the store does with a client. */
export interface Connector {
  /** Waits for a free connection. */
  connect(): Promise<Connection>;
  /** The client's name for its state. */
  readonly state: string;
  /** Whether the client's end waits for connections that are in use, so that a caller may have its result before the connection is free. */
  readonly endWaits: boolean;
}

/** Listens to a channel, and returns when the server has confirmed it. */
export type Listen = (channel: string, onMessage: (payload: string) => void) => Promise<unknown>;
