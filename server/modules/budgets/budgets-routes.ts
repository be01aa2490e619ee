import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { budgetsMax } from '../../../contract/limits.ts'
import { PageQuery } from '../../../contract/request-schemas.ts'
import type { ValidParts } from '../../http/body/valid-parts.ts'
import { addRoute } from '../../http/route.ts'
import {
  BudgetBody,
  type BudgetChanges,
  BudgetChangesBody,
  BudgetList,
  BudgetParams,
  BudgetSchema,
  type BudgetSettings,
  budgetLocation,
} from './budgets-schemas.ts'
import type { Budgets } from './budgets-service.ts'

export function addBudgetRoutes(app: FastifyInstance, budgets: Budgets): void {
  addRoute(
    app,
    'listBudgets',
    {
      description:
        'Oldest first. Only administrators receive the addresses of recipients; others receive their number.',
      querystring: PageQuery,
      response: { 200: BudgetList },
      problems: ['invalid-cursor'],
    },
    async (request) => budgets.list(request.caller, request.query),
  )

  addRoute(
    app,
    'createBudget',
    {
      description:
        'Each threshold is reported once a period, within 60 seconds of the event that reaches it: by a governance ' +
        'event and a webhook message `budget.threshold_reached`, and by mail if the service sends mail. Thresholds ' +
        `that the running period has reached already are reported at once. A tenant has at most ${budgetsMax} budgets.`,
      body: BudgetBody,
      checkBody: (sound: ValidParts<BudgetSettings>) => budgets.furtherProblems(sound),
      response: { 201: BudgetSchema },
      responseHeaders: { 201: budgetLocation },
    },
    async (request, reply) => {
      const budget = await budgets.create(request.caller, request.body)
      reply.code(201).header('location', `/api/v1/budgets/${budget.budget_id}`)
      return budget
    },
  )

  addRoute(
    app,
    'getBudget',
    {
      description:
        'Costs are those of the summary: events count at once. Only administrators receive the addresses of ' +
        'recipients; others receive their number.',
      params: BudgetParams,
      response: { 200: BudgetSchema },
    },
    async (request) => budgets.get(request.caller, request.params.budget_id),
  )

  addRoute(
    app,
    'updateBudget',
    {
      description:
        'Absent members stay unchanged; `filter` and `notify` are replaced as a whole. A threshold that was reported ' +
        'in the running period is not reported again, whatever changes; others are reported if they are reached now. ' +
        'Another `period` or `time_zone` begins another period.',
      params: BudgetParams,
      body: BudgetChangesBody,
      checkBody: (sound: ValidParts<BudgetChanges>) => budgets.furtherProblems(sound),
      response: { 200: BudgetSchema },
    },
    async (request) => budgets.update(request.caller, request.params.budget_id, request.body),
  )

  addRoute(
    app,
    'removeBudget',
    {
      description: 'Removes the budget. Mail that waits to be sent is not sent any more.',
      params: BudgetParams,
      response: { 204: Type.Null() },
    },
    async (request, reply) => {
      await budgets.remove(request.caller, request.params.budget_id)
      return reply.code(204).send()
    },
  )
}
