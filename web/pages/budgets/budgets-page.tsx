import { Button, Skeleton, Text } from '@mantine/core'
import { IconPigMoney, IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { budgetsMax } from '../../../contract/limits.ts'
import { api, hub } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Help } from '../../components/help.tsx'
import { QueryBoundary } from '../../components/query-boundary.tsx'
import { useAdding } from '../../components/use-adding.ts'
import { SidePanel } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { BudgetCards } from './budget-cards.tsx'
import { BudgetForm } from './budget-form.tsx'
import type { Budget } from './budget-points.ts'

/** Shows budgets with what is spent and the forecast. */
export default function BudgetsPage() {
  const me = useMe()
  const [adding, { open: startAdding, close: endAdding }] = useAdding()
  const [asked, setAsked] = useState<{ action: 'change' | 'remove'; budget: Budget }>()
  const budgets = api.useQuery(
    'get',
    '/api/v1/budgets',
    { params: { query: { limit: budgetsMax } } },
    { refetchInterval: 30_000 },
  )
  const changed = asked?.action === 'change' ? asked.budget : undefined
  const close = () => {
    if (adding) endAdding()
    setAsked(undefined)
  }
  const add = me.may('createBudget') && (
    <Button leftSection={<IconPlus size={16} />} onClick={startAdding}>
      Add budget
    </Button>
  )
  return (
    <>
      <PageHeader
        title="Budgets"
        help={<Help term="Forecast" />}
        about="Amounts for a day, week or month. Each threshold is reported once a period."
        actions={budgets.data?.items.length ? add : undefined}
      />
      <QueryBoundary query={budgets} what="budgets" skeleton={<Skeleton height={170} radius="md" />}>
        {({ items }) =>
          items.length > 0 ? (
            <BudgetCards budgets={items} onAsk={setAsked} />
          ) : (
            <EmptyState title="No budgets yet" icon={IconPigMoney} action={add}>
              A budget shows spent cost and a forecast for the period. People and systems are notified when a threshold
              is reached.
            </EmptyState>
          )
        }
      </QueryBoundary>
      <SidePanel
        opened={adding || changed !== undefined}
        onClose={close}
        title={changed ? 'Change budget' : 'Add budget'}
        closeOnClickOutside={false}
      >
        <BudgetForm budget={changed} onClose={close} />
      </SidePanel>
      <ConfirmDialog
        opened={asked?.action === 'remove'}
        onClose={close}
        title={`Remove the budget ${asked?.budget.name}?`}
        confirmLabel="Remove budget"
        danger
        failed="The budget was not removed"
        send={() =>
          hub.DELETE('/api/v1/budgets/{budget_id}', { params: { path: { budget_id: asked?.budget.budget_id ?? '' } } })
        }
        done="The budget is removed."
        refresh={['/api/v1/budgets']}
      >
        <Text size="sm">Its thresholds are not reported any more. Costs and past events stay.</Text>
      </ConfirmDialog>
    </>
  )
}
