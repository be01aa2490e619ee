/**
 * Receives governance events and appends them to a file as lines of JSON, which a log shipper passes to a SIEM:
 *
 *     WEBHOOK_SECRET=whsec_… npx node examples/siem-receiver/receiver.ts events.jsonl
 *
 * It responds after the line is on disk. Messages arrive at least once: a known id is acknowledged and not written again.
 */
import { existsSync, readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
// In a project of your own: '@org-memory-hub/sdk/webhooks/node'.
import { verifyWebhook, WebhookRefused } from '../../sdk/typescript/src/webhooks/verify-webhook-node.ts'

const bodyBytesMax = 1024 * 1024
const [file] = process.argv.slice(2)
const secret = process.env.WEBHOOK_SECRET
if (!file || !secret) {
  console.error('Name the file, and set WEBHOOK_SECRET to the secret of the endpoint.')
  process.exit(2)
}

// A crash may leave half a line. Its message was not acknowledged, so it comes again.
const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
const isCut = lines.at(-1) !== undefined && lines.at(-1) !== ''
const known = new Set(lines.slice(0, -1).flatMap(idOf))
const output = await open(file, 'a')
if (isCut) await output.write('\n')

const server = createServer(async (request, response) => {
  try {
    const message = verifyWebhook({ body: await bodyOf(request), headers: request.headers, secret })
    if (!known.has(message.id)) {
      known.add(message.id)
      try {
        await output.appendFile(`${JSON.stringify(message)}\n`)
        await output.datasync()
      } catch (error) {
        known.delete(message.id)
        throw error
      }
    }
    response.writeHead(204).end()
  } catch (error) {
    // 400 is never retried with success; anything else is.
    const status = error instanceof WebhookRefused ? 400 : 500
    response.writeHead(status).end(error instanceof WebhookRefused ? error.code : undefined)
    if (status === 500) console.error(error)
  }
})
server.listen(Number(process.env.PORT ?? 8474), '127.0.0.1', () => {
  console.log(`Receiver: http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
process.on('SIGTERM', () => server.close(() => output.close()))

function idOf(line: string): string[] {
  try {
    return [(JSON.parse(line) as { id: string }).id]
  } catch {
    return []
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bodyBytesMax) throw new Error('The body is too large.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
