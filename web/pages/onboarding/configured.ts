import { HubProblem } from '../../api/problem.ts'

/** Whether the Hub answered that there is none (yet): what pages show as a beginning rather than as a failure. */
export function isMissing({ error }: { error: unknown }): boolean {
  return error instanceof HubProblem && error.status === 404
}

/**
 * Problems of the entries of list fields, gathered at the field: `domains.2` becomes part of `domains`, which is where a
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
