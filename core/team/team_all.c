#include "team_all.h"

static int gather(const hx_all *all, const void *own, size_t bytes, void *every)
{
    const hx_team *const team = ((const hx_team_all *)all)->team;
    return team->ops->all_gather(team, own, bytes, every);
}

void hx_team_all_of(hx_team_all *all, const hx_team *team)
{
    all->all = (hx_all){.rank = team->rank, .size = team->size, .gather = gather};
    all->team = team;
}
