// A bare Fastify that reads one event as JSON and sends it back: the lower bound of single ingest.
import Fastify from 'fastify'
import { announce } from './announce.ts'

const app = Fastify()
app.post('/events', async (request) => request.body)
await announce(app)
