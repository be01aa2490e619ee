import type { PointedError } from './domain-error.ts'

/** Returns a fault for each id that repeats an earlier one. Ids are in lower case. */
export function repeatedRecords(ids: readonly string[]): PointedError[] {
  if (new Set(ids).size === ids.length) return []
  return faultsOf(ids, (id, at) => ids.indexOf(id) < at, 'names a record a second time')
}

/** Returns a fault for each id that names no record of the tenant. */
export function unknownRecords(ids: readonly string[], isKnown: (id: string) => boolean): PointedError[] {
  return faultsOf(ids, (id) => !isKnown(id), 'is not the id of a record of this tenant')
}

function faultsOf(ids: readonly string[], isFaulty: (id: string, at: number) => boolean, detail: string) {
  return ids.flatMap((id, at) => (isFaulty(id, at) ? [{ pointer: `/related_records/${at}`, detail }] : []))
}
