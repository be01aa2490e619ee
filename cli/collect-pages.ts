import { type Command, Option } from 'commander'
import type { Pages } from '../sdk/typescript/src/index.ts'
import { wholeNumber } from './query-options.ts'
import { terminalText } from './terminal-text.ts'

/** Items held in memory before they are printed. An export takes any number. */
const itemsMax = 100_000

/** Adds `--limit`, over all pages, and `--cursor`. */
export function addPageOptions(command: Command, standard: number): Command {
  return command
    .addOption(
      new Option('--limit <number>', 'the number of rows; more pages are read as needed')
        .argParser(wholeNumber(1, itemsMax))
        .default(standard),
    )
    .option('--cursor <cursor>', 'continue where an earlier command ended')
}

export interface CollectedPages<Item, Page> {
  items: Item[]
  next_cursor: string | null
  /** The last page that was read. */
  page: Page
}

/**
 * Reads pages until `limit` items are read, or none is left.
 *
 * @param load returns the page at a cursor with at most `count` items
 */
export async function collectPages<Item, Page extends { next_cursor: string | null }>(
  load: (count: number, cursor: string | undefined) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
  options: { limit: number; cursor?: string | undefined; pageSize: number },
): Promise<CollectedPages<Item, Page>> {
  const items: Item[] = []
  let cursor = options.cursor
  for (;;) {
    const page = await load(Math.min(options.limit - items.length, options.pageSize), cursor)
    for (const item of itemsOf(page)) items.push(item)
    const { next_cursor } = page
    if (next_cursor === null || items.length >= options.limit) return { items, next_cursor, page }
    cursor = next_cursor
  }
}

/** Returns the first of the pages. */
export async function firstPage<Item, Page extends { next_cursor: string | null }>(
  pages: Pages<Item, Page>,
): Promise<Page> {
  return (await pages.pages().next()).value as Page
}

/** Returns the line that says how to read on; nothing on the last page. */
export function moreText(cursor: string | null): string {
  return cursor === null ? '' : `\nThere are more: repeat the command with --cursor '${terminalText(cursor)}'`
}
