import type { Config } from '../../../config.ts'
import type { KeyContext, KeyProvider } from '../cmek-types.ts'
import { KeyProviderError } from '../key-provider-error.ts'

const timeoutMs = 5_000
const responseBytesMax = 64 * 1024

/** Matches the name of a key, after the path of its secrets engine unless that is `transit`. */
const keyRefPattern = /^(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}\/){0,8}[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/

/**
 * Opens the transit secrets engine of HashiCorp Vault (API documentation, "Encrypt data" and "Decrypt data"). Binds the
 * tenant as `associated_data`, so the key must be of an AEAD type, which is the default.
 */
export function openVaultTransit(settings: NonNullable<Config['vault']>): KeyProvider {
  async function ask(action: 'encrypt' | 'decrypt', keyRef: string, body: Record<string, string>, field: string) {
    const slash = keyRef.lastIndexOf('/')
    const mount = slash < 0 ? 'transit' : keyRef.slice(0, slash)
    let response: Response
    let text: string
    try {
      response = await fetch(`${settings.address}/v1/${mount}/${action}/${keyRef.slice(slash + 1)}`, {
        method: 'POST',
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
        headers: {
          'content-type': 'application/json',
          'x-vault-request': 'true',
          'x-vault-token': settings.token,
          ...(settings.namespace === undefined ? {} : { 'x-vault-namespace': settings.namespace }),
        },
        body: JSON.stringify(body),
      })
      text = await response.text()
    } catch (cause) {
      throw new KeyProviderError('Vault cannot be reached at the moment.', { isAway: true, cause })
    }
    if (!response.ok) throw problemOf(response.status)
    const value = text.length > responseBytesMax ? undefined : fieldOf(text, field)
    if (value === undefined) throw new KeyProviderError('Vault sent no readable response.', { isAway: true })
    return value
  }

  return {
    problemOf: (keyRef) =>
      keyRefPattern.test(keyRef)
        ? undefined
        : 'must be the name of a key of Vault’s transit engine, with the path of the engine before it if it is not transit',

    async wrap(keyRef, key, context) {
      const body = { plaintext: key.toString('base64'), associated_data: associatedData(context) }
      return Buffer.from(await ask('encrypt', keyRef, body, 'ciphertext'))
    },

    async unwrap(keyRef, wrapped, context) {
      const body = { ciphertext: wrapped.toString(), associated_data: associatedData(context) }
      return Buffer.from(await ask('decrypt', keyRef, body, 'plaintext'), 'base64')
    },
  }
}

function associatedData({ tenant, keyId }: KeyContext): string {
  return Buffer.from(`org-memory-hub/${tenant}/${keyId}`).toString('base64')
}

/**
 * Translates a status of Vault's HTTP API. 412, 429, 472, 473 and 5xx are transient, for example while Vault is sealed.
 */
function problemOf(status: number): KeyProviderError {
  if (status === 403) return new KeyProviderError('Vault does not allow this Hub to use the key.', { isAway: false })
  if (status === 404)
    return new KeyProviderError('Vault has no such secrets engine.', { isAway: false, isUnknown: true })
  if (status === 400) {
    return new KeyProviderError('Vault does not encrypt or decrypt with this key.', { isAway: false, isUnknown: true })
  }
  return new KeyProviderError(`Vault is unavailable at the moment (status ${status}).`, { isAway: true })
}

function fieldOf(text: string, field: string): string | undefined {
  try {
    const value = (JSON.parse(text) as { data?: Record<string, unknown> }).data?.[field]
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
