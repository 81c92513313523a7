/* roles_numbers.c: slots with a number of each row of a group's sums, as factors of rows that go to another role. */
#include "codegen/gpu/roles.h"
#include "codegen/text/step.h"

enum { ROWS = 64, LANES = 32 /* rows of a group's sums, of which a lane has two */ };

static bool is_of_rows(Fn *f, const SlotTile *t) {
    const Type x = t->type;
    return x.nrange == 1 && x.elem == ELEM_F32 && t->panel == PANEL_ROWS && t->fill == FILL_THREADS &&
           hip_role_extent(f->m, f->k, f->hip->role->number, x.range[0]) == ROWS &&
           hip_role_extent(f->m, f->k, -1, x.range[0]) == ROWS;
}

bool hip_role_numbers(Fn *f, const SlotTile *t, const Value *v) {
    const Tile *from = is_of_rows(f, t) ? made_tile(f, v) : NULL;
    if (!from || from->count != ROWS / LANES) return false;
    fn_line(f, "tile_rows_write(%s, %s, thread);", f->hip->role->slot, from->name);
    return true;
}

bool hip_role_take_numbers(Fn *f, const SlotTile *t, const Op *convert) {
    const Tile *to = is_of_rows(f, t) ? held_tile(f, convert->res.p[0]) : NULL;
    if (!to || to->count != ROWS / LANES) return false;
    fn_line(f, "tile_rows_take(%s, %s, thread);", to->name, fn_held(f, convert->arg.p[0])->tile.name);
    return true;
}
