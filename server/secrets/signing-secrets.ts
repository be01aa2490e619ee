import { secretOverlapHours } from '../../contract/limits.ts'
import { formatTimestamp } from '../../contract/timestamp.ts'
import { randomText } from './random-text.ts'

/** The stored signing secrets of messages: the newest, and the former one for a while. */
export interface SealedSigningSecrets {
  secret_sealed: Buffer
  former_secret_sealed: Buffer | null
  former_secret_until: string | null
}

/** Returns `whsec_` and 44 characters with 262 bits. The whole text is the key of the HMAC. */
export function makeSigningSecret(): string {
  return `whsec_${randomText(44)}`
}

/** Returns until when a secret that is replaced now stays valid. */
export function formerSecretUntil(): string {
  return formatTimestamp(Date.now() + secretOverlapHours * 3_600_000)
}

/** Returns whether a former secret is still valid, by the clock of this process. */
export function isFormerGood({
  former_secret_until: until,
}: Pick<SealedSigningSecrets, 'former_secret_until'>): boolean {
  return until !== null && Date.now() < Date.parse(until)
}

/**
 * Decrypts both secrets; the former only while it is valid.
 *
 * @param open decrypts one; returns undefined once its key is destroyed
 */
export async function openSigningSecrets(
  row: SealedSigningSecrets,
  open: (sealed: Buffer) => Promise<string | undefined>,
): Promise<{ current: string | undefined; former: string | undefined }> {
  const former = isFormerGood(row) ? row.former_secret_sealed : null
  return { current: await open(row.secret_sealed), former: former === null ? undefined : await open(former) }
}
