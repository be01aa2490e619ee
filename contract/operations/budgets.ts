import { administrator, type Operation, scope } from './operation.ts'

/** Amounts that a tenant plans to spend in a period. */
export const budgetOperations = {
  listBudgets: {
    method: 'GET',
    path: '/api/v1/budgets',
    access: scope('telemetry:read'),
    rateClass: 'hub-read',
    tag: 'Budgets',
    summary: 'List budgets with what is spent',
  },
  createBudget: {
    method: 'POST',
    path: '/api/v1/budgets',
    access: administrator,
    rateClass: 'hub-write',
    body: 'settings',
    tag: 'Budgets',
    summary: 'Create a budget',
  },
  getBudget: {
    method: 'GET',
    path: '/api/v1/budgets/{budget_id}',
    access: scope('telemetry:read'),
    rateClass: 'hub-read',
    tag: 'Budgets',
    summary: 'Get a budget with what is spent',
  },
  updateBudget: {
    method: 'PATCH',
    path: '/api/v1/budgets/{budget_id}',
    access: administrator,
    rateClass: 'hub-write',
    body: 'settings',
    tag: 'Budgets',
    summary: 'Change a budget',
  },
  removeBudget: {
    method: 'DELETE',
    path: '/api/v1/budgets/{budget_id}',
    access: administrator,
    rateClass: 'hub-write',
    tag: 'Budgets',
    summary: 'Remove a budget',
  },
} as const satisfies Record<string, Operation>
