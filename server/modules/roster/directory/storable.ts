import { type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { scimNameLengthMax, scimResourceLengthMax } from '../../../../contract/limits.ts'
import type { JsonValue } from '../../../../provenance/json.ts'
import type { DirectoryGroupWrite, DirectoryUserWrite } from './directory-types.ts'

/**
 * Refuses what the database could not keep: texts with NUL or half of a surrogate pair, which JSON can carry, and names
 * that are too long for an index, or attributes that would make every list long. Throws `validation-failed`, without the contents.
 */
export function requireStorable(write: DirectoryUserWrite | DirectoryGroupWrite): void {
  const names = 'userName' in write ? { userName: write.userName } : { displayName: write.displayName }
  const errors: PointedError[] = []
  for (const [name, text] of Object.entries({ ...names, externalId: write.externalId ?? '' })) {
    if (!isText(text)) errors.push({ pointer: `/${name}`, detail: noText })
    // In characters of UTF-16: at most three bytes each.
    else if (text.length > scimNameLengthMax) {
      errors.push({ pointer: `/${name}`, detail: `must have at most ${scimNameLengthMax} characters` })
    }
  }
  for (const [name, value] of Object.entries(write.attributes)) {
    if (!isText(name) || !isStorable(value)) errors.push({ pointer: `/${name}`, detail: noText })
  }
  if (!fits(write)) {
    const detail = `must have attributes of at most ${scimResourceLengthMax} characters together, as JSON`
    errors.push({ pointer: '', detail })
  }
  if (errors.length > 0) throw validationFailed(errors)
}

export function fits({ attributes }: Pick<DirectoryUserWrite, 'attributes'>): boolean {
  return JSON.stringify(attributes).length <= scimResourceLengthMax
}

const noText = 'must not contain the character NUL or half of a surrogate pair'

function isText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

function isStorable(value: JsonValue): boolean {
  if (typeof value === 'string') return isText(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, each]) => isText(name) && isStorable(each as JsonValue))
}
