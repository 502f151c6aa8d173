/**
 * Bodies of a rejection in several formats. The request's header `Accept` selects one. An object with other members is itself
 * the body.
 */
export interface MessageFormats {
  /** The page for clients that prefer HTML, such as browsers. Escape what you insert. */
  html?: string | undefined;
  /** The body for clients that prefer plain text. Without `json`, it is also the `message` of the default body. */
  text?: string | undefined;
  /**
   * The body for all other clients, sent as JSON.
   *
   * @defaultValue the default body
   */
  json?: object | undefined;
}
