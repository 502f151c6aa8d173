/** The data that a {@link PriorityQueue} keeps in each member. Only the queue writes it. */
export interface QueueMember {
  /** Members with a lower value come first. */
  priority: number;
  /** The member's index in the heap, or -1 outside the queue. */
  queueIndex: number;
}

/**
 * A binary heap whose members know their index, so that any of them can be moved or removed in O(log n).
 *
 * When a member's true priority rises, the queue need not know at once. The code that takes the first member compares
 * the two and moves the member. So a hit, which only postpones an expiry, costs the queue nothing.
 */
export class PriorityQueue<Member extends QueueMember> {
  readonly #heap: Member[] = [];

  /** The member with the lowest priority value. */
  get first(): Member | undefined {
    return this.#heap[0];
  }

  /** Adds the member, or moves it if the queue has it. */
  set(member: Member, priority: number): void {
    const { queueIndex } = member;
    const isLater = queueIndex >= 0 && priority > member.priority;
    member.priority = priority;
    if (isLater) this.#sink(member, queueIndex);
    else this.#rise(member, queueIndex < 0 ? this.#heap.length : queueIndex);
  }

  /** Removes the member if the queue has it. */
  remove(member: Member): void {
    const index = member.queueIndex;
    if (index < 0) return;
    const last = this.#heap.pop() as Member;
    if (last !== member) {
      this.#rise(last, index);
      this.#sink(last, last.queueIndex);
    }
    member.queueIndex = -1;
  }

  #setAt(member: Member, index: number): void {
    this.#heap[index] = member;
    member.queueIndex = index;
  }

  /** Puts `member` at `index`, or nearer to the front, before members with a higher priority value. */
  #rise(member: Member, index: number): void {
    let at = index;
    while (at > 0) {
      const parent = this.#heap[(at - 1) >> 1] as Member;
      if (parent.priority <= member.priority) break;
      this.#setAt(parent, at);
      at = (at - 1) >> 1;
    }
    if (at !== member.queueIndex) this.#setAt(member, at);
  }

  /** Puts `member` at `index`, or farther back, behind members with a lower priority value. */
  #sink(member: Member, index: number): void {
    let at = index;
    for (;;) {
      const left = this.#heap[2 * at + 1];
      const right = this.#heap[2 * at + 2];
      const child = right !== undefined && left !== undefined && right.priority < left.priority ? right : left;
      if (child === undefined || child.priority >= member.priority) break;
      const next = child.queueIndex;
      this.#setAt(child, at);
      at = next;
    }
    this.#setAt(member, at);
  }
}
