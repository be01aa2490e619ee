import { createHmac } from 'node:crypto'
import { configurePath } from '../roster-sync/sync-lab.ts'
import type { Answer, TestHub, TestTenant } from '../support/hub.ts'
import { event } from '../telemetry/events.ts'

export const inboundPath = '/api/v1/webhooks/inbound'

/** A connection as whoever sends through it knows it. */
export interface Connection {
  connectionId: string
  secret: string
}

/** The header of a message, as its sender makes it. */
export function signatureOf(body: string | Buffer, secret: string, t = Math.floor(Date.now() / 1000)): string {
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`
}

async function made(hub: TestHub, tenant: TestTenant, path: string, body: object): Promise<Connection> {
  const answer = await hub.call(tenant, 'POST', path, { body })
  if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`)
  const { connection_id: connectionId, secret } = answer.body.inbound
  return { connectionId, secret }
}

let platforms = 0

/** A new connector of the platform slack. */
export function addPlatform(hub: TestHub, tenant: TestTenant = 'acme'): Promise<Connection> {
  platforms += 1
  const body = { platform: 'slack', display_name: `Inbound ${platforms}`, delivery: 'pull' }
  return made(hub, tenant, '/api/v1/llm/connectors', body)
}

/** SCIM, configured anew. */
export async function addProvider(hub: TestHub, tenant: TestTenant = 'acme'): Promise<Connection> {
  await hub.call(tenant, 'DELETE', configurePath)
  return made(hub, tenant, configurePath, { mode: 'push' })
}

export interface SendOptions {
  /** Instead of the right one; null for none. */
  signature?: string | null
  headers?: Record<string, string | undefined>
}

/** Sends a message as a sender does: without token and tenant header. */
export function send(
  hub: TestHub,
  { connectionId, secret }: Connection,
  message: unknown,
  { signature, headers }: SendOptions = {},
): Promise<Answer> {
  const body = typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message)
  const header = signature === undefined ? signatureOf(body, secret) : (signature ?? undefined)
  return hub.call('acme', 'POST', `${inboundPath}/${connectionId}`, {
    token: null,
    body,
    headers: { 'x-service-tenant': undefined, 'x-service-signature': header, ...headers },
  })
}

let messages = 0

function message<Data extends object>(kind: string, data: Data) {
  messages += 1
  return { id: `msg-${messages}`, kind, occurred_at: '2026-01-05T09:30:00Z', data }
}

/** `llm_platform` is left to the connector. */
export function invoked(changes: Parameters<typeof event>[0] = {}) {
  return message('skill.invoked', event({ llm_platform: undefined, ...changes }))
}

export function person(what: 'provisioned' | 'updated' | 'deactivated', data: object) {
  return message(`user.${what}`, data)
}
