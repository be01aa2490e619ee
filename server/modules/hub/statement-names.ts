/** Statements that a connection keeps prepared at most: each takes memory of its server process, for its plan. */
const namedMax = 64
/** A statement that was asked for so often is worth keeping. */
const usesMin = 3
/** Statements that are counted at most. */
const countedMax = 1000

const uses = new Map<string, number>()
const names = new Map<string, string>()

/**
 * The name under which connections keep a statement prepared, so that it is parsed and planned once: planning a page
 * takes PostgreSQL longer than reading it. Undefined for one that is rare, or one too many.
 *
 * @param text without values of requests: texts are kept
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
