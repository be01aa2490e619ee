// A bare Fastify that reads one event as JSON and sends it back: the least that single ingest could cost.
import Fastify from 'fastify'
import { announce } from './announce.ts'

const app = Fastify()
app.post('/events', async (request) => request.body)
await announce(app)
