import { DomainError, type PointedError, validationFailed } from '../../../../contract/domain-error.ts'
import { scimNameLengthMax, scimResourceLengthMax } from '../../../../contract/limits.ts'
import type { JsonValue } from '../../../../provenance/json.ts'
import type { DirectoryGroupWrite, DirectoryUserWrite } from './directory-types.ts'

const noText = 'must not contain the character NUL or an unpaired surrogate'

export function unknownUser(): DomainError {
  return new DomainError('not-found', 'The directory has no user with this id.')
}

export function unknownGroup(): DomainError {
  return new DomainError('not-found', 'The directory has no group with this id.')
}

/** @param pointer `/userName` or `/displayName` */
export function nameTaken(pointer: '/userName' | '/displayName'): DomainError {
  const whose = pointer === '/userName' ? 'user of the directory has this user name' : 'group has this display name'
  return new DomainError('concurrent-modification', `Another ${whose}.`, {
    errors: [{ pointer, detail: 'is already in use; case is ignored' }],
  })
}

/** @param wanted the revision in the caller's ETag; undefined accepts any */
export function requireRevision(revision: number, wanted: number | undefined): void {
  if (wanted === undefined || wanted === revision) return
  throw new DomainError(
    'concurrent-modification',
    'The resource was changed by another request. Get it again, then repeat.',
  )
}

/**
 * Rejects values the database cannot store: text with NUL or half of a surrogate pair, which JSON can contain; names
 * too long for an index; attributes that would make every list long. Throws `validation-failed` without the values.
 */
export function requireStorable(write: DirectoryUserWrite | DirectoryGroupWrite): void {
  const names = 'userName' in write ? { userName: write.userName } : { displayName: write.displayName }
  const errors: PointedError[] = []
  for (const [name, text] of Object.entries({ ...names, externalId: write.externalId ?? '' })) {
    if (!isText(text)) errors.push({ pointer: `/${name}`, detail: noText })
    // Length in UTF-16 units, at most three bytes each.
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

function isText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

function isStorable(value: JsonValue): boolean {
  if (typeof value === 'string') return isText(value)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([name, each]) => isText(name) && isStorable(each as JsonValue))
}
