/** What an {@link PriorityQueue} keeps of its members, in the members themselves. */
export interface QueueMember {
  /** Not later than the member's true expiry. Only the queue writes it. */
  priority: number;
  /** The member's place; -1 outside the queue. Only the queue writes it. */
  queueIndex: number;
}

/**
 * The members by the time they were queued for, nearest first: a binary heap whose members know their places.
 *
 * A member whose expiry moves on need not be told here; whoever takes the first one looks at its true expiry and
 * moves it. So a hit costs the queue nothing.
 */
export class PriorityQueue<Member extends QueueMember> {
  readonly #heap: Member[] = [];

  get size(): number {
    return this.#heap.length;
  }

  /** The member queued for the nearest time. */
  get first(): Member | undefined {
    return this.#heap[0];
  }

  has(member: Member): boolean {
    return this.#heap[member.queueIndex] === member;
  }

  add(member: Member, micros: number): void {
    member.priority = micros;
    this.#rise(member, this.#heap.length);
  }

  move(member: Member, micros: number): void {
    member.priority = micros;
    this.#rise(member, member.queueIndex);
    this.#sink(member, member.queueIndex);
  }

  remove(member: Member): void {
    const index = member.queueIndex;
    const last = this.#heap.pop() as Member;
    if (last !== member) {
      this.#place(last, index);
      this.move(last, last.priority);
    }
    member.queueIndex = -1;
  }

  /** Puts another member in this one's place. */
  replace(member: Member, by: Member): void {
    by.priority = member.priority;
    this.#place(by, member.queueIndex);
    member.queueIndex = -1;
  }

  clear(): void {
    for (const member of this.#heap) member.queueIndex = -1;
    this.#heap.length = 0;
  }

  #place(member: Member, index: number): void {
    this.#heap[index] = member;
    member.queueIndex = index;
  }

  /** Puts `member` at `index` or, over members that are due later, nearer to the front. */
  #rise(member: Member, index: number): void {
    let place = index;
    while (place > 0) {
      const parent = this.#heap[(place - 1) >> 1] as Member;
      if (parent.priority <= member.priority) break;
      this.#place(parent, place);
      place = (place - 1) >> 1;
    }
    this.#place(member, place);
  }

  /** Puts `member` at `index` or, below members that are due earlier, farther back. */
  #sink(member: Member, index: number): void {
    let place = index;
    for (;;) {
      const left = this.#heap[2 * place + 1];
      const right = this.#heap[2 * place + 2];
      const child = right !== undefined && left !== undefined && right.priority < left.priority ? right : left;
      if (child === undefined || child.priority >= member.priority) break;
      const next = child.queueIndex;
      this.#place(child, place);
      place = next;
    }
    this.#place(member, place);
  }
}
