import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'

const iterations = 4096

/**
 * Returns the verifier that PostgreSQL stores for a password (RFC 5803). It is sent instead of the password, so that no
 * server log and no printed instruction contains one.
 *
 * @param password ASCII, so that SASLprep changes nothing
 */
export function scramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const storedKey = createHash('sha256').update(hmac(salted, 'Client Key')).digest('base64')
  const serverKey = hmac(salted, 'Server Key').toString('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`
}
