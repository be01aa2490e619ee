import { DomainError, storageFull } from '../../contract/domain-error.ts'

const keyPattern = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*(\/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$/

/**
 * Validates a key.
 *
 * @throws Error for a key that is no path of names, or has a name that begins with a dot
 */
export function checkKey(key: string): void {
  if (key.length > 900 || !keyPattern.test(key)) throw new Error(`"${key}" cannot be the key of a stored file`)
}

/** Returns the error for a caller when the storage fails. Its place and reason are for the operator, in the log. */
export function storageFailed(cause: unknown): unknown {
  if (cause instanceof DomainError) return cause
  const { code } = cause as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT') return storageFull('files', { cause })
  return new DomainError('hub-unavailable', 'The storage of files cannot be used just now. Try again shortly.', {
    retryAfterSeconds: 10,
    cause,
  })
}
