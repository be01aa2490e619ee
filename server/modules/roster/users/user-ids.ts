import { randomText } from '../../../secrets/random-text.ts'

/** `usr_` and 24 letters and digits: nothing about the person can be read from it. */
export function makeUserId(): string {
  return `usr_${randomText(24)}`
}
