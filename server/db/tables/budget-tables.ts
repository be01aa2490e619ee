import type { Timestamp } from './timestamp.ts'

/** Tables of budgets. */
export interface BudgetTables {
  'hub.budgets': {
    tenant_id: string
    budget_id: string
    name: string
    /** `BudgetSettings['filter']` */
    filter: unknown
    period: 'day' | 'week' | 'month'
    time_zone: string
    amount_micros: number
    basis: 'reported' | 'calculated'
    thresholds: number[]
    emails: string[]
    webhook_ids: string[]
    created_at: Timestamp
    created_by: string
    updated_at: Timestamp
    revision: number
    closed_at: Timestamp | null
  }
  'hub.budget_firings': {
    tenant_id: string
    budget_id: string
    period: 'day' | 'week' | 'month'
    first_quarter: number
    threshold: number
    spent_micros: string
    fired_at: Timestamp
  }
  'hub.budget_mail_counts': {
    tenant_id: string
    day: string
    mails: number
  }
}
