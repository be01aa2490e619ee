import { randomText } from '../../../secrets/random-text.ts'

/** `usr_` and 24 letters and digits: nothing about the person can be read from it. */
export function makeUserId(): string {
  return `usr_${randomText(24)}`
}

/** Nothing of this form is looked for as anything but an id. */
export function isUserId(text: string): boolean {
  return /^usr_[A-Za-z0-9]{24}$/.test(text)
}
