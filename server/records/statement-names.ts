/** Maximum number of prepared statements per connection. Each plan takes memory of the server process. */
const namedMax = 64
/** Number of uses after which a statement is worth preparing. */
const usesMin = 3
/** Maximum number of statements that are counted. */
const countedMax = 1000

const uses = new Map<string, number>()
const names = new Map<string, string>()

/**
 * Returns the name under which connections keep a statement prepared, so that it is parsed and planned once: planning a
 * page takes PostgreSQL longer than reading it. Returns undefined for a rare statement, or beyond the limit.
 *
 * @param text the statement without values of requests, because texts are retained
 */
export function nameOfStatement(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= namedMax) return known
  const count = (uses.get(text) ?? 0) + 1
  if (count < usesMin) {
    if (uses.size >= countedMax) uses.clear()
    uses.set(text, count)
    return undefined
  }
  uses.delete(text)
  const name = `hub_page_${names.size + 1}`
  names.set(text, name)
  return name
}
