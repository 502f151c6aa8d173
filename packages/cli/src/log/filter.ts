import { Networks } from './client.js';
import type { Request } from './request.js';

/** Which requests count. Without a list, all do. */
export interface FilterOptions {
  /** Callers that do not count: keys, addresses and networks. */
  readonly exclude?: readonly string[] | undefined;
  /** Paths that count. A `*` stands for any text. */
  readonly path?: readonly string[] | undefined;
  readonly method?: readonly string[] | undefined;
}

/** Selects requests by their caller, path and method. */
export class RequestFilter {
  /** Whether it needs the path and the method of requests. */
  readonly needsTarget: boolean;
  readonly #excluded: ReadonlySet<string>;
  readonly #networks: Networks;
  readonly #path: RegExp | undefined;
  readonly #methods: ReadonlySet<string> | undefined;

  constructor({ exclude = [], path, method }: FilterOptions) {
    this.needsTarget = path !== undefined || method !== undefined;
    this.#excluded = new Set(exclude);
    this.#networks = new Networks(exclude.filter(isNetwork));
    this.#path = path && new RegExp(`^(?:${path.map(toPattern).join('|')})$`);
    this.#methods = method && new Set(method.map((name) => name.toUpperCase()));
  }

  accepts({ path, method }: Request, key: string): boolean {
    if (this.#excluded.size > 0 && (this.#excluded.has(key) || this.#networks.contains(key.replace(/\/\d+$/, ''))))
      return false;
    if (this.#path !== undefined && !this.#path.test(path ?? '')) return false;
    return this.#methods === undefined || this.#methods.has((method ?? '').toUpperCase());
  }
}

function isNetwork(text: string): boolean {
  try {
    return new Networks([text]) !== undefined;
  } catch {
    return false;
  }
}

const toPattern = (path: string): string => path.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('\\*', '.*');
