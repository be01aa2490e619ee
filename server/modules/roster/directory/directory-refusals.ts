import { DomainError } from '../../../../contract/domain-error.ts'

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
  throw new DomainError('concurrent-modification', 'The resource was changed meanwhile. Get it again, then repeat.')
}
