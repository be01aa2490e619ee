import { HubProblem } from '../../api/problem.ts'

/**
 * Returns true if the Hub responded that the object does not exist (yet): pages show this as a start, not as a failure.
 */
export function isMissing({ error }: { error: unknown }): boolean {
  return error instanceof HubProblem && error.status === 404
}

/**
 * Returns errors with those of list entries joined at the list's field: `domains.2` becomes part of `domains`, where a
 * form can show it.
 */
export function gathered(errors: Record<string, string>, lists: readonly string[]): Record<string, string> {
  const at: Record<string, string> = {}
  for (const [name, text] of Object.entries(errors)) {
    const list = lists.find((each) => name === each || name.startsWith(`${each}.`)) ?? name
    at[list] = at[list] ? `${at[list]} ${text}` : text
  }
  return at
}
