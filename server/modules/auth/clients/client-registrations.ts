import { createHmac, randomBytes } from 'node:crypto'
import { constantTimeEqual } from '../../../secrets/constant-time-equal.ts'
import { deriveKey } from '../../../secrets/encryption.ts'

/** A public OAuth client. Its name and addresses are its own statements. */
export interface RegisteredClient {
  clientId: string
  name: string
  redirectUris: readonly string[]
}

/**
 * Registers OAuth clients without storage (RFC 7591, appendix A.5.2): the id contains the metadata and a MAC. So nobody
 * fills a table by registering, and a registration neither expires nor is lost.
 */
export interface ClientRegistrations {
  /** @param hostTenant slug of the tenant whose own host was called; the client is unknown everywhere else */
  register(metadata: Omit<RegisteredClient, 'clientId'>, hostTenant: string | undefined): RegisteredClient
  /** Returns the client of an id that was issued at this host; undefined for any other text. */
  open(clientId: string, hostTenant: string | undefined): RegisteredClient | undefined
}

const form = /^hubc\.([A-Za-z0-9_-]{1,2000})\.([A-Za-z0-9_-]{43})$/

export function createClientRegistrations({ masterKey }: { masterKey: Buffer }): ClientRegistrations {
  const key = deriveKey(masterKey, 'oauth clients')
  const macOf = (payload: string, hostTenant = '') =>
    createHmac('sha256', key).update(`${hostTenant} ${payload}`).digest('base64url')

  return {
    register({ name, redirectUris }, hostTenant) {
      const nonce = randomBytes(9).toString('base64url')
      const payload = Buffer.from(JSON.stringify([nonce, name, ...redirectUris])).toString('base64url')
      return { clientId: `hubc.${payload}.${macOf(payload, hostTenant)}`, name, redirectUris }
    },
    open(clientId, hostTenant) {
      const [, payload = '', mac = ''] = form.exec(clientId) ?? []
      if (payload === '' || !constantTimeEqual(mac, macOf(payload, hostTenant))) return undefined
      const [, name, ...redirectUris] = metadataIn(payload)
      return { clientId, name, redirectUris }
    },
  }
}

/** Returns the name in a client id of a verified token; undefined for clients that are not registered this way. */
export function nameOfClient(clientId: string): string | undefined {
  const payload = form.exec(clientId)?.[1]
  return payload === undefined ? undefined : metadataIn(payload)[1]
}

function metadataIn(payload: string): [nonce: string, name: string, ...redirectUris: string[]] {
  return JSON.parse(Buffer.from(payload, 'base64url').toString())
}
