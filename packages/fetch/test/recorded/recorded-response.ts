import type { ResponseReport } from '../../src/dialects/dialect';

/**
 * A response of a real server, or one that the documentation of the API shows or describes. Where the source does not name the
 * address, it is an example.
 */
export interface RecordedResponse {
  readonly title: string;
  /** Where the headers come from. Headers without a meaning for limits are left out. */
  readonly source: string;
  /** Whether a server has sent them. Otherwise the source shows them as an example, or describes them. */
  readonly isReal?: boolean;
  readonly method?: string;
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** What the dialect has to read. */
  readonly report: ResponseReport | undefined;
}
