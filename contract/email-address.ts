import { patterns } from './literals.ts'

/** RFC 5321, section 4.5.3.1.3: a path of 256 octets, without its angle brackets. */
export const emailLengthMax = 254

const emailPattern = new RegExp(patterns.email, 'u')

/** Whether it looks like one address. Only a mail that arrives proves that it is one. */
export function isEmail(text: string): boolean {
  return text.length <= emailLengthMax && emailPattern.test(text)
}

/** What addresses are compared by: lower case, in Unicode normalization form C. */
export function emailKey(email: string): string {
  return email.normalize('NFC').toLowerCase().normalize('NFC')
}
