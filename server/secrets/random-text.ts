import { randomInt } from 'node:crypto'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/**
 * Returns random letters and digits: they survive every encoding that a client might apply or forget. 43 of them have
 * 256 bits.
 */
export function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
}
