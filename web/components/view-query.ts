/** State of a page without the name of the view it came from, in one order: what two states are compared by. */
function canonical(query: string): string {
  const parameters = new URLSearchParams(query)
  parameters.delete('view')
  parameters.sort()
  return parameters.toString()
}

/** Whether two queries of an address show the same. */
export function sameView(one: string, other: string): boolean {
  return canonical(one) === canonical(other)
}

/** The query of an address that has these parameters, as it is saved: without `view`, and without what is not set. */
export function viewQuery(search: Readonly<Record<string, string | undefined>>): string {
  return canonical(new URLSearchParams(Object.entries(search).filter(isSet)).toString())
}

function isSet(entry: [string, string | undefined]): entry is [string, string] {
  return entry[1] !== undefined
}
