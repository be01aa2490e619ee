/**
 * Members of a body that somebody changed, for PATCH: what others changed since the form was opened stays as it is now.
 *
 * @param opened what the form began with
 */
export function patchBody<Members extends object>(now: Members, opened: Members): Partial<Members> {
  const changed = (name: keyof Members) => JSON.stringify(now[name]) !== JSON.stringify(opened[name])
  return Object.fromEntries(Object.entries(now).filter(([name]) => changed(name as keyof Members))) as Partial<Members>
}
