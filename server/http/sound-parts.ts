import type { PointedError } from '../../contract/domain-error.ts'

/** A JSON value that may lack whatever was at fault: members are absent, entries of lists undefined in their place. */
export type SoundParts<T> = T extends readonly (infer E)[]
  ? readonly (SoundParts<E> | undefined)[]
  : T extends object
    ? { [K in keyof T]?: SoundParts<T[K]> | undefined }
    : T

/** A copy of a parsed body without the places that `faults` point at. Undefined when the body itself is one of them. */
export function soundPartsOf(body: unknown, faults: readonly PointedError[]): unknown {
  if (faults.some(({ pointer }) => pointer === '')) return undefined
  const copy: unknown = structuredClone(body)
  for (const { pointer } of faults) {
    const path = pointer.split('/').slice(1).map(unescapeStep)
    const last = path.pop()
    const parent = path.reduce<unknown>((value, step) => childOf(value, step), copy)
    if (last === undefined || typeof parent !== 'object' || parent === null) continue
    if (Array.isArray(parent)) parent[Number(last)] = undefined
    else delete (parent as Record<string, unknown>)[last]
  }
  return copy
}

function childOf(value: unknown, step: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, step)
    ? (value as Record<string, unknown>)[step]
    : undefined
}

/** RFC 6901, section 4. */
const unescapeStep = (step: string) => step.replaceAll('~1', '/').replaceAll('~0', '~')
