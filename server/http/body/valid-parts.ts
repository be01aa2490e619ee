import type { PointedError } from '../../../contract/domain-error.ts'

/** A JSON value without its invalid parts: invalid members are absent, invalid entries of lists undefined. */
export type ValidParts<T> = T extends readonly (infer E)[]
  ? readonly (ValidParts<E> | undefined)[]
  : T extends object
    ? { [K in keyof T]?: ValidParts<T[K]> | undefined }
    : T

/**
 * Returns a copy of a parsed body without the places that `faults` point at. Only the objects and arrays around those
 * places are copied: a copy of a whole body takes up to 100 ms. Returns undefined if the body itself is invalid.
 */
export function withoutInvalidParts(body: unknown, faults: readonly PointedError[]): unknown {
  if (faults.some(({ pointer }) => pointer === '')) return undefined
  const copies = new Set<unknown>()
  const copyOf = (value: unknown) => {
    if (!isParent(value) || copies.has(value)) return value
    const copy = Array.isArray(value) ? [...value] : { ...value }
    copies.add(copy)
    return copy
  }
  const sound = copyOf(body)
  for (const { pointer } of faults) {
    const path = pointer.split('/').slice(1).map(unescapeStep)
    const last = path.pop()
    let parent = sound
    for (const step of path) {
      if (!isParent(parent) || !Object.hasOwn(parent, step)) {
        parent = undefined
        break
      }
      parent[step] = copyOf(parent[step])
      parent = parent[step]
    }
    if (last === undefined || !isParent(parent)) continue
    if (Array.isArray(parent)) parent[Number(last)] = undefined
    else delete parent[last]
  }
  return sound
}

function isParent(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Unescapes a step of a JSON pointer (RFC 6901, section 4). */
const unescapeStep = (step: string) => step.replaceAll('~1', '/').replaceAll('~0', '~')
