/** What the store uses of an ioredis `Redis` or `Cluster`, version 5 or 6, or of iovalkey's. */
export interface IoredisClient {
  /** The state of the connection, such as `ready`. */
  readonly status: string;
  /** Whether this is a `Cluster`. */
  readonly isCluster?: boolean;
  /** The nodes of each slot of a Cluster. The first one accepts writes. */
  readonly slots?: readonly (readonly string[])[];
  /** The options that the store must know. */
  readonly options: {
    /** The prefix that the client adds to every key. */
    readonly keyPrefix?: string | undefined;
    /** Whether the client sends commands without a reply again after it has reconnected. */
    readonly autoResendUnfulfilledCommands?: boolean | undefined;
  };
  /** Runs a script that the server knows by its SHA-1 hash. */
  evalsha(sha: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  /** Runs a script, and lets the server remember it. */
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** What the store uses of a node-redis client, cluster, pool or sentinel, version 5 or 6. */
export interface NodeRedisClient {
  /** Whether the app has connected the client. */
  readonly isOpen: boolean;
  /** Whether the connection can send commands now. */
  readonly isReady?: boolean;
  /** Only a cluster has slots. */
  readonly slots?: readonly {
    /** The node that accepts writes. */
    readonly master?: {
      /** The host and port of the node. */
      readonly address?: string;
    };
  }[];
  /** Runs a script that the server knows by its SHA-1 hash. */
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  /** Runs a script, and lets the server remember it. */
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** The node of a cluster that gets a command: any node, or the one that owns a key. */
export type GlideRoute =
  | 'randomNode'
  | {
      /** The primary of the key's slot. */
      readonly type: 'primarySlotKey';
      /** A key of the slot. */
      readonly key: string;
    };

/** What the store uses of a client of Valkey GLIDE, version 2. */
export interface GlideClient {
  /** Runs a command. `decoder` is the form of the reply, and `route` the nodes of a cluster that get the command. */
  customCommand(command: string[], options?: { decoder?: number; route?: GlideRoute }): Promise<unknown>;
  /** Only a client of a cluster has routes. */
  invokeScriptWithRoute?: unknown;
  /** Runs a script by its hash, and sends its text if the server does not know it. */
  invokeScript: unknown;
}

/** What the store uses of a `Redis` of `@upstash/redis`, which sends commands over HTTP. */
export interface UpstashClient {
  /** Runs a script that the server knows by its SHA-1 hash. */
  evalsha(sha: string, keys: string[], values: string[]): Promise<unknown>;
  /** Runs a script, and lets the server remember it. */
  eval(script: string, keys: string[], values: string[]): Promise<unknown>;
  /** Sends several commands at once. The store recognizes the client by this method, and does not call it. */
  pipeline: unknown;
}

/** A client that {@link RedisStore} accepts. */
export type RedisClient = IoredisClient | NodeRedisClient | GlideClient | UpstashClient;
