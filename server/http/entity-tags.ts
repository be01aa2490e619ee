/** Finds the tags of a list (RFC 9110, section 5.6.1), without the mark of a weak one. A tag may contain commas. */
const listedTag = /(?:^|,)[ \t]*(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?=,|$)/g

/**
 * Returns whether `If-None-Match` names the entity tag, or is `*`. The comparison is weak (RFC 9110, section 13.1.2): a
 * strong tag and its weak twin are equal. A header that is no list of tags names none.
 */
export function namesTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  const opaque = etag.replace(/^W\//, '')
  return ifNoneMatch.trim() === '*' || [...ifNoneMatch.matchAll(listedTag)].some(([, tag]) => tag === opaque)
}
