import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** Stands for a service that keeps keys: its address, what it was asked, and whether it is there. */
export interface KeyService {
  url: string
  requests: { path: string; headers: IncomingMessage['headers']; body: Record<string, unknown> }[]
  /** Answers every call with this status while it is set. */
  fails: number | undefined
  close(): Promise<void>
}

type Answer = { status: number; body: unknown }

async function serve(
  answer: (path: string, body: Record<string, string>, headers: IncomingMessage['headers']) => Answer,
): Promise<KeyService> {
  const service: KeyService = { url: '', requests: [], fails: undefined, close: async () => {} }
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request))
    service.requests.push({ path: request.url!, headers: request.headers, body })
    const { status, body: answered } =
      service.fails === undefined
        ? answer(request.url!, body, request.headers)
        : { status: service.fails, body: { __type: 'KMSInternalException', errors: ['sealed'] } }
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(answered))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  service.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  service.close = () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(() => resolve()))
  }
  return service
}

/** Of AES-256-GCM with what it is bound to, which both services have. */
function box() {
  const key = randomBytes(32)
  return {
    seal(plaintext: string, bound: string): string {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(bound))
      return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]).toString('base64')
    },
    open(sealed: string, bound: string): string | undefined {
      const bytes = Buffer.from(sealed, 'base64')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
      decipher.setAAD(Buffer.from(bound)).setAuthTag(bytes.subarray(-16))
      try {
        return decipher.update(bytes.subarray(12, -16)).toString() + decipher.final().toString()
      } catch {
        return undefined
      }
    },
  }
}

/**
 * AWS KMS as its API reference (2014-11-01) describes Encrypt and Decrypt over AWS JSON 1.1: the action in
 * X-Amz-Target, bytes in base64, an encryption context that has to be the same, errors by `__type`.
 */
export function startKms(keys: readonly string[]): Promise<KeyService> {
  const boxes = new Map(keys.map((name) => [name, box()]))
  return serve((_path, body, headers) => {
    const found = boxes.get(body.KeyId!)
    if (!found)
      return { status: 400, body: { __type: 'NotFoundException', message: `Key '${body.KeyId}' does not exist` } }
    const bound = JSON.stringify(body.EncryptionContext)
    if (headers['x-amz-target'] === 'TrentService.Encrypt') {
      return { status: 200, body: { CiphertextBlob: found.seal(body.Plaintext!, bound), KeyId: body.KeyId } }
    }
    const plaintext = found.open(body.CiphertextBlob!, bound)
    if (plaintext === undefined) return { status: 400, body: { __type: 'InvalidCiphertextException' } }
    return { status: 200, body: { Plaintext: plaintext, KeyId: body.KeyId } }
  })
}

/**
 * The transit secrets engine of Vault as its API documentation describes it: POST /v1/<mount>/encrypt|decrypt/<name>,
 * the token in X-Vault-Token, ciphertexts as `vault:v1:…`, `associated_data` that has to be the same.
 */
export function startVault(token: string, keys: readonly string[]): Promise<KeyService> {
  const boxes = new Map(keys.map((name) => [name, box()]))
  return serve((path, body, headers) => {
    if (headers['x-vault-token'] !== token) return { status: 403, body: { errors: ['permission denied'] } }
    const [, mount, action, name] = /^\/v1\/(.+)\/(encrypt|decrypt)\/([^/]+)$/.exec(path) ?? []
    if (mount === undefined) return { status: 404, body: { errors: [] } }
    const found = boxes.get(`${mount}/${name}`)
    if (!found) return { status: 400, body: { errors: ['encryption key not found'] } }
    if (action === 'encrypt') {
      return {
        status: 200,
        body: {
          data: { ciphertext: `vault:v1:${found.seal(body.plaintext!, body.associated_data!)}`, key_version: 1 },
        },
      }
    }
    const plaintext = found.open(body.ciphertext!.replace('vault:v1:', ''), body.associated_data!)
    if (plaintext === undefined) return { status: 400, body: { errors: ['cipher: message authentication failed'] } }
    return { status: 200, body: { data: { plaintext } } }
  })
}
