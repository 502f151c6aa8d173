import type { CheckInput } from '../operations/operations.js';
import type { DenialGroup } from './denial.js';

/** Finds the denials of a plan and its keys, and those that depend on a key. */
export class DenialGroups {
  readonly #groups = new Map<string, DenialGroup>();
  readonly #groupsOfKeys = new Map<string, Set<DenialGroup>>();

  find(input: CheckInput): DenialGroup | undefined {
    // Most checks end here, and a text for each would take longer.
    return this.#groupsOfKeys.has(input.keys.at(-1)!) ? this.#groups.get(idOf(input)) : undefined;
  }

  add(input: CheckInput): DenialGroup {
    const { encodedPlan, keys } = input;
    const group = { id: idOf(input), encodedPlan, keys, denials: new Map() };
    this.#groups.set(group.id, group);
    for (const key of keys) {
      const groups = this.#groupsOfKeys.get(key);
      if (groups === undefined) this.#groupsOfKeys.set(key, new Set([group]));
      else groups.add(group);
    }
    return group;
  }

  delete(group: DenialGroup): void {
    this.#groups.delete(group.id);
    for (const key of group.keys) {
      const groups = this.#groupsOfKeys.get(key);
      groups?.delete(group);
      if (groups?.size === 0) this.#groupsOfKeys.delete(key);
    }
  }

  /** The groups that have one of these keys. */
  ofKeys(keys: readonly string[]): DenialGroup[] {
    return keys.flatMap((key) => [...(this.#groupsOfKeys.get(key) ?? [])]);
  }

  clear(): void {
    this.#groups.clear();
    this.#groupsOfKeys.clear();
  }
}

/** The same for all costs of a plan and keys. Redis keys contain no control characters, so the line breaks are unambiguous. */
function idOf({ encodedPlan, keys }: CheckInput): string {
  return `${encodedPlan.text}\n${keys.join('\n')}`;
}
