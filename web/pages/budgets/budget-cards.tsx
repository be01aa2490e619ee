import { ActionIcon, Badge, Card, Group, Menu, Progress, SimpleGrid, Text } from '@mantine/core'
import { IconDots, IconPencil, IconTrash } from '@tabler/icons-react'
import { useMe } from '../../api/me.ts'
import { formatPercent, formatUsd } from '../../ui/formats.ts'
import { TimeText } from '../../ui/time-text.tsx'
import type { Budget } from './budget-points.ts'
import { BudgetTrend } from './budget-trend.tsx'

interface BudgetCardsProps {
  budgets: readonly Budget[]
  onAsk(asked: { action: 'change' | 'remove'; budget: Budget }): void
}

/** Returns the look of a reached threshold: only the amount itself is an alarm. */
function reachedLook(percent: number) {
  if (percent >= 100) return { variant: 'filled', color: 'red.9' }
  return { variant: 'light', color: percent >= 80 ? 'yellow' : 'gray' }
}

const periods = { day: 'Daily', week: 'Weekly', month: 'Monthly' } as const

/** Shows a card for each budget: spent of the amount, forecast and reached thresholds. */
export function BudgetCards({ budgets, onAsk }: BudgetCardsProps) {
  return (
    <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }}>
      {budgets.map((budget) => (
        <BudgetCard key={budget.budget_id} budget={budget} onAsk={onAsk} />
      ))}
    </SimpleGrid>
  )
}

function BudgetCard({ budget, onAsk }: Pick<BudgetCardsProps, 'onAsk'> & { budget: Budget }) {
  const me = useMe()
  const { name, amount_usd: amount, spent_usd: spent, forecast_usd: forecast, reached } = budget
  const share = spent / amount
  const color = share >= 1 ? 'red' : share >= 0.8 ? 'yellow' : undefined
  const selected = Object.values(budget.filter).join(', ')
  return (
    <Card withBorder component="section" aria-label={name}>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <div style={{ minWidth: 0 }}>
          <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Text>
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {[periods[budget.period], `${budget.basis} cost`, selected || 'all usage'].join(' · ')}
          </Text>
        </div>
        {me.may('updateBudget') && (
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${name}`}>
                <IconDots size={18} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => onAsk({ action: 'change', budget })}>
                Change
              </Menu.Item>
              <Menu.Item leftSection={<IconTrash size={16} />} onClick={() => onAsk({ action: 'remove', budget })}>
                Remove
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        )}
      </Group>
      <Group justify="space-between" mt="md" mb={6} gap="xs">
        <Text size="sm">{`${formatUsd(spent)} of ${formatUsd(amount)}`}</Text>
        <Text size="sm" fw={600}>
          {formatPercent(share)}
        </Text>
      </Group>
      <Progress
        value={Math.min(share, 1) * 100}
        aria-label={`Spent of ${name}`}
        {...(color !== undefined && { color })}
      />
      <Group justify="space-between" mt="sm" gap="xs">
        <Text size="sm" c="dimmed">{`Forecast ${formatUsd(forecast)} (${formatPercent(forecast / amount)})`}</Text>
        <Text size="sm" c="dimmed" component="div">
          Ends <TimeText iso={budget.period_end} form="minute" />
        </Text>
      </Group>
      <BudgetTrend budget={budget} />
      <Group gap={6} mt="sm">
        {budget.thresholds.map((percent) => {
          const isReached = reached.includes(percent)
          return (
            <Badge key={percent} {...(isReached ? reachedLook(percent) : { variant: 'default' })}>
              {`${formatPercent(percent / 100)}${isReached ? ' reached' : ''}`}
            </Badge>
          )
        })}
      </Group>
    </Card>
  )
}
