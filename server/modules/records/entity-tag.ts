import { DomainError, validationFailed } from '../../../contract/domain-error.ts'

/** Returns the strong entity tag of a record's state (RFC 9110, section 8.8.3). The record itself never changes. */
export function entityTagOf(recordId: string, revision: number): string {
  return `"${recordId}-${revision}"`
}

const entityTag = /^(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")$/

/**
 * Throws `concurrent-modification` unless the header names the tag or is `*`. A weak tag counts as its strong twin:
 * proxies weaken tags when they compress. Throws `validation-failed` when the header is neither `*` nor a list of tags.
 */
export function requireMatch(ifMatch: string | undefined, current: string): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return
  const tags = ifMatch.split(',').map((part) => entityTag.exec(part.trim())?.[1])
  if (tags.includes(undefined)) {
    throw validationFailed([
      { pointer: '/headers/if-match', detail: 'must be `*` or entity tags in double quotes, separated by commas' },
    ])
  }
  if (tags.includes(current)) return
  throw new DomainError(
    'concurrent-modification',
    `The record has changed: its ETag is now ${current}. Read it again before changing it.`,
    { errors: [{ pointer: '/headers/if-match', detail: `does not name ${current}` }] },
  )
}
