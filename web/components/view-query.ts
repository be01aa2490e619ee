/** Returns a state of a page without the name of its view and without notices about its address, in canonical order, for comparison. */
function canonical(query: string): string {
  const parameters = new URLSearchParams(query)
  parameters.delete('view')
  parameters.delete('missed')
  parameters.sort()
  return parameters.toString()
}

/** Returns true if two queries of an address show the same state. */
export function sameView(one: string, other: string): boolean {
  return canonical(one) === canonical(other)
}

/** Returns the query to save for these parameters: without `view` and without unset parameters. */
export function viewQuery(search: Readonly<Record<string, string | undefined>>): string {
  return canonical(new URLSearchParams(Object.entries(search).filter(isSet)).toString())
}

function isSet(entry: [string, string | undefined]): entry is [string, string] {
  return entry[1] !== undefined
}
