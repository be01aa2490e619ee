// A bare Fastify that reads a form and sends its fields back as JSON: the lower bound of a token endpoint.
import Fastify from 'fastify'
import { announce } from './announce.ts'

const app = Fastify()
app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
  done(null, Object.fromEntries(new URLSearchParams(body as string))),
)
app.post('/token', async (request) => request.body)
await announce(app)
