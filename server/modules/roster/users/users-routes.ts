import type { FastifyInstance } from 'fastify'

export function addUserRoutes(_app: FastifyInstance): void {}
