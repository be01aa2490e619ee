import { type RecordType, recordTypes } from './literals.ts'
import type { Scope } from './scopes.ts'

const typesByScope = [
  ['hub:read', recordTypes],
  ['telemetry:read', ['telemetry_event']],
  ['governance:read', ['governance_event']],
] as const satisfies readonly (readonly [Scope, readonly RecordType[]])[]

/** The types that a reader sees, of those asked for; undefined when that is all of them. */
export function visibleTypes(scopes: ReadonlySet<Scope>, asked?: RecordType): readonly RecordType[] | undefined {
  const visible = new Set<string>(typesByScope.flatMap(([scope, types]) => (scopes.has(scope) ? types : [])))
  if (asked !== undefined) return visible.has(asked) ? [asked] : []
  return visible.size === recordTypes.length ? undefined : recordTypes.filter((type) => visible.has(type))
}

export function canSee(scopes: ReadonlySet<Scope>, recordType: string): boolean {
  return visibleTypes(scopes)?.includes(recordType as RecordType) ?? true
}

/** The narrowest scope that shows records of the type. */
export function readScopeOf(recordType: RecordType): Scope {
  const [scope] = typesByScope.findLast(([, types]) => types.some((type) => type === recordType)) ?? typesByScope[0]
  return scope
}
