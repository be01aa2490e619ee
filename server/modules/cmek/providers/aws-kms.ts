import { DecryptCommand, EncryptCommand, KMSClient } from '@aws-sdk/client-kms'
import type { Config } from '../../../config.ts'
import type { KeyContext, KeyProvider } from '../cmek-types.ts'
import { KeyProviderError } from '../key-provider-error.ts'

const timeoutMs = 5_000

/** Matches an id, an alias or an ARN (AWS KMS API reference, Encrypt, KeyId). */
const keyRefPattern =
  /^(alias\/[A-Za-z0-9/_-]{1,250}|[A-Za-z0-9-]{1,256}|arn:[a-z0-9-]+:kms:([a-z0-9-]+):\d{12}:(key|alias)\/[A-Za-z0-9/_-]{1,256})$/

/**
 * Errors by which KMS rejects a request, as opposed to failing (AWS KMS API reference, errors of Encrypt and Decrypt).
 */
const refusals: Record<string, string> = {
  NotFoundException: 'AWS KMS has no such key.',
  DisabledException: 'The key is disabled in AWS KMS.',
  KMSInvalidStateException: 'The key cannot be used in its state in AWS KMS; it may be about to be deleted.',
  AccessDeniedException: 'AWS KMS does not allow this Hub to use the key.',
  InvalidKeyUsageException: 'The key in AWS KMS is not one for symmetric encryption.',
  InvalidArnException: 'AWS KMS does not know the key.',
  ValidationException: 'AWS KMS does not accept the name of the key.',
  InvalidCiphertextException: 'AWS KMS does not unwrap the content key with this key and tenant.',
  IncorrectKeyException: 'The content key was wrapped with another key of AWS KMS.',
  UnrecognizedClientException: 'AWS KMS does not know the credentials of this Hub.',
}

/** Opens AWS KMS with symmetric keys: Encrypt and Decrypt, bound to the tenant by the encryption context. */
export function openAwsKms(settings: Partial<Config['aws']>): KeyProvider {
  const clients = new Map<string, KMSClient>()

  function clientOf(keyRef: string): KMSClient {
    const region = keyRefPattern.exec(keyRef)?.[2] ?? settings.region
    if (region === undefined) {
      throw new KeyProviderError('The operator has set no AWS_REGION, and the key names none: use its ARN.', {
        isAway: false,
      })
    }
    const known = clients.get(region)
    if (known) return known
    const { kmsEndpoint: endpoint, credentials } = settings
    const client = new KMSClient({
      region,
      maxAttempts: 2,
      requestHandler: { connectionTimeout: timeoutMs / 2, requestTimeout: timeoutMs },
      ...(endpoint !== undefined && { endpoint }),
      ...(credentials !== undefined && { credentials }),
    })
    clients.set(region, client)
    return client
  }

  return {
    problemOf: (keyRef) =>
      keyRefPattern.test(keyRef) ? undefined : 'must be the id, the ARN or the alias (alias/…) of a key in AWS KMS',

    async wrap(keyRef, key, context) {
      const client = clientOf(keyRef)
      const { CiphertextBlob } = await asked(() =>
        client.send(
          new EncryptCommand({ KeyId: keyRef, Plaintext: key, EncryptionContext: encryptionContext(context) }),
          { abortSignal: AbortSignal.timeout(2 * timeoutMs) },
        ),
      )
      return bytesOf(CiphertextBlob)
    },

    async unwrap(keyRef, wrapped, context) {
      const client = clientOf(keyRef)
      const { Plaintext } = await asked(() =>
        client.send(
          new DecryptCommand({ KeyId: keyRef, CiphertextBlob: wrapped, EncryptionContext: encryptionContext(context) }),
          { abortSignal: AbortSignal.timeout(2 * timeoutMs) },
        ),
      )
      return bytesOf(Plaintext)
    },
  }
}

/** Returns the encryption context, which also appears in the customer's CloudTrail. */
function encryptionContext({ tenant, keyId }: KeyContext): Record<string, string> {
  return { 'org-memory-hub:tenant': tenant, 'org-memory-hub:content-key': keyId }
}

async function asked<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call()
  } catch (cause) {
    const refusal = refusals[(cause as Error).name]
    const isUnknown = (cause as Error).name === 'NotFoundException'
    if (refusal !== undefined) throw new KeyProviderError(refusal, { isAway: false, isUnknown, cause })
    throw new KeyProviderError('AWS KMS cannot be reached at the moment.', { isAway: true, cause })
  }
}

function bytesOf(bytes: Uint8Array | undefined): Buffer {
  if (bytes === undefined) throw new KeyProviderError('AWS KMS sent no response.', { isAway: true })
  return Buffer.from(bytes)
}
