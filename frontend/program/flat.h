/* flat.h: heads of one tensor a parameter: records are their fields, weights in a format its tensors. */
#ifndef TILEC_FRONTEND_PROGRAM_FLAT_H
#define TILEC_FRONTEND_PROGRAM_FLAT_H

#include "frontend/sema/unit.h"

Name name_inside(const Front *, Name of, Name field); /* w.gain */
Name name_path(const Front *, const Expr *);          /* the same of an expression; NULL: no name or field */

const Decl *record_of(Front *, const TypeExpr *); /* or NULL */
/* Fields of the same names: their types and extents are judged as those of any argument or target. */
bool records_match(Front *, const Decl *, const Decl *);
ParamDecl field_of(Front *, const ParamDecl *, const ParamDecl *field); /* read, kept or updated as the record is */

const Decl *format_named(Front *, const TypeExpr *); /* NULL after a report; so is the next: false */
bool shapes_count(Front *, const ParamDecl *, const Decl *format);
/* One tensor of the weight: W.A, with the shape that `as` lists for it. */
ParamDecl format_part(Front *, const ParamDecl *, const Decl *format, int i);

bool head_is_sound(Front *, const Decl *); /* records end, results are in no format; reports */
int decl_inouts(const Decl *flat);         /* inout parameters: a call gives their next versions before its results */

#endif
