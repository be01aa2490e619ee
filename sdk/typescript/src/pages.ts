/** Any page: `next_cursor` is null on the last one. */
interface Page {
  next_cursor: string | null
}

/** The items of all pages. Iterate over items, or over {@link Pages.pages}; each iteration starts at the first page. */
export class Pages<Item, Answer extends Page> implements AsyncIterable<Item> {
  readonly #load: (cursor: string | undefined) => Promise<Answer>
  readonly #itemsOf: (page: Answer) => readonly Item[]

  constructor(load: (cursor: string | undefined) => Promise<Answer>, itemsOf: (page: Answer) => readonly Item[]) {
    this.#load = load
    this.#itemsOf = itemsOf
  }

  /** Yields items, page after page. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* this.#itemsOf(page)
  }

  /** Yields whole pages, with their `next_cursor` and summaries. Requests a page when the one before was used. */
  async *pages(): AsyncGenerator<Answer, void, undefined> {
    let cursor: string | undefined
    for (;;) {
      const page = await this.#load(cursor)
      yield page
      const next = page.next_cursor ?? undefined
      if (next === undefined) return
      if (next === cursor) throw new Error('The Hub returned the same cursor twice')
      cursor = next
    }
  }
}
