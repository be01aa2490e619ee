// A bare Fastify that reads one event as JSON and sends it back: the least that single ingest could cost.
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'

const app = Fastify()
app.post('/echo', async (request) => request.body)
await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}\n`)
process.on('SIGTERM', () => process.exit())
