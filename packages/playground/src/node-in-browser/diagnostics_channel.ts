/** A channel without subscribers, because nothing in the page subscribes. */
export function channel(): { readonly hasSubscribers: boolean; publish(): void } {
  return { hasSubscribers: false, publish() {} };
}
