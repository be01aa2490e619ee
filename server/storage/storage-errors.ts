import { DomainError, storageFull } from '../../contract/domain-error.ts'

const keyPattern = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*(\/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$/

/** @throws Error for a key that is no path of names, none of which begins with a point */
export function checkKey(key: string): void {
  if (key.length > 900 || !keyPattern.test(key)) throw new Error(`"${key}" cannot be the key of a stored file`)
}

/** What a caller learns when the storage fails; where it is and why is the operator's, in the log. */
export function storageFailed(cause: unknown): unknown {
  if (cause instanceof DomainError) return cause
  const { code } = cause as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT') return storageFull('files', { cause })
  return new DomainError('hub-unavailable', 'The storage of files cannot be used just now. Try again shortly.', {
    retryAfterSeconds: 10,
    cause,
  })
}
