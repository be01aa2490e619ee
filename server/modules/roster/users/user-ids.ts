import { randomText } from '../../../secrets/random-text.ts'

/** Returns a new user id: `usr_` and 24 letters and digits, with no information about the person. */
export function makeUserId(): string {
  return `usr_${randomText(24)}`
}

/** Returns whether the text has the form of a user id. Such text is looked up as an id only. */
export function isUserId(text: string): boolean {
  return /^usr_[A-Za-z0-9]{24}$/.test(text)
}
