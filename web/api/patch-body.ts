/**
 * Returns the changed members of a body, for PATCH. Members that others changed since the form was opened keep their
 * new value.
 *
 * @param opened the initial values of the form
 */
export function patchBody<Members extends object>(now: Members, opened: Members): Partial<Members> {
  const changed = (name: keyof Members) => JSON.stringify(now[name]) !== JSON.stringify(opened[name])
  return Object.fromEntries(Object.entries(now).filter(([name]) => changed(name as keyof Members))) as Partial<Members>
}
